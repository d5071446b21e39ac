! All blocking collectives through "use mpi".
#define BINDING mpi
#include "fortran.h"

program fortran_usempi
  use collectives
  implicit none
  call start
  call everywhere
  call finish('fortran_usempi')
end program
