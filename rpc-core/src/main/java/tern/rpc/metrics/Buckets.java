package tern.rpc.metrics;

/**
 * The buckets of a histogram, in microseconds. The first 2^{@code bits} buckets are linear. After that, each doubling
 * of the time has 2^{@code bits} buckets, so the relative error is constant.
 */
final class Buckets {

    private Buckets() {}

    /**
     * Returns the index of the bucket for a time.
     *
     * @param count the number of buckets; the last bucket contains all longer times
     */
    static int of(long micros, int bits, int count) {
        if (micros < 1 << bits) {
            return (int) Math.max(0, micros);
        }
        int shift = 63 - Long.numberOfLeadingZeros(micros) - bits;
        int bucket = ((shift + 1) << bits) + (int) (micros >>> shift) - (1 << bits);
        return Math.min(bucket, count - 1);
    }

    static long upperBoundMicros(int bucket, int bits) {
        if (bucket < 1 << bits) {
            return bucket + 1L;
        }
        int shift = (bucket >>> bits) - 1;
        long first = (bucket & (1 << bits) - 1) + (1L << bits);
        return (first + 1) << shift;
    }

    /**
     * Returns the upper bound, in microseconds, of the bucket that contains the percentile, or 0 if the histogram is
     * empty.
     */
    static long percentile(long[] counts, long total, double share, int bits) {
        long rank = (long) Math.ceil(total * share);
        long seen = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            seen += counts[bucket];
            if (seen >= rank && seen > 0) {
                return upperBoundMicros(bucket, bits);
            }
        }
        return 0;
    }
}
