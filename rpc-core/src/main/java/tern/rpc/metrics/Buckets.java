package tern.rpc.metrics;

/**
 * The buckets of a histogram in microseconds. They are linear at first. After that, each doubling has a fixed number of
 * buckets, so the relative error is the same everywhere. With {@code bits} of precision there are 2^bits buckets per
 * doubling.
 */
final class Buckets {

    private Buckets() {}

    /** @param count the number of buckets; the last one takes all larger values */
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

    /** The upper bound, in microseconds, of the bucket that contains the percentile; 0 if nothing was counted. */
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
