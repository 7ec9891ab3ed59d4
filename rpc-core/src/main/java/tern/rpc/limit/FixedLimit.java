package tern.rpc.limit;

/** A constant, configured limit. Immutable. */
public final class FixedLimit implements Limit {

    private final int limit;

    /** @param limit the maximum number of concurrent calls; 1 or more */
    public FixedLimit(int limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("a limit is " + limit + "; expected 1 or more");
        }
        this.limit = limit;
    }

    @Override
    public int first() {
        return limit;
    }

    @Override
    public int next(Window seen) {
        return limit;
    }

    @Override
    public int enough() {
        return limit;
    }

    @Override
    public String describe() {
        return "fixed";
    }
}
