/* An MPI library that does not look at arguments says that every operator fits every type. Sums of complex numbers and
 * of long doubles stay inexact all the same: with RONDO_ALLREDUCE=census, which is for exact operators alone, only the
 * sum of integers is a census.
 */
#include "rondo_test.h"

static unsigned long long censuses(void) { return test.calls ? test.calls("allreduce", "census") : 0; }

int main(int argc, char **argv) {
    start(&argc, &argv, "red_unchecked");
    double complexes[2] = {test.rank, 1}, complex_sum[2];
    long double longs = test.rank, long_sum;
    unsigned long long before = censuses();
    MPI_Allreduce(complexes, complex_sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&longs, &long_sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK_IN(censuses() == before, "%llu of sums that are inexact", censuses() - before);
    int sum = test.ranks * (test.ranks - 1) / 2, all;
    CHECK(complex_sum[0] == sum && complex_sum[1] == test.ranks);
    CHECK(long_sum == sum);
    MPI_Allreduce(&test.rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == sum);
    if (test.expect) CHECK_IN(censuses() == before + 1, "%llu of a sum of integers", censuses() - before);
    return finish();
}
