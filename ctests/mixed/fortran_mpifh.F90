! All blocking collectives through mpif.h.
#define HAS_MPIF_H
#include "fortran.h"

program fortran_mpifh
  use collectives
  implicit none
  call start
  call everywhere
  call finish('fortran_mpifh')
end program
