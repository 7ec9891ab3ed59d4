package tern.rpc.limit;

/** A constant, configured limit. Immutable. */
public final class FixedLimit implements Limit {

    private final int limit;
    private final String setBy;

    /** @param limit the maximum number of concurrent calls; 1 or more */
    public FixedLimit(int limit) {
        this(limit, "");
    }

    /**
     * @param limit the maximum number of concurrent calls; 1 or more
     * @param setBy the place where the limit was set, or an empty string for the server's properties
     */
    public FixedLimit(int limit, String setBy) {
        if (limit < 1) {
            throw new IllegalArgumentException("a limit is " + limit + "; expected 1 or more");
        }
        this.limit = limit;
        this.setBy = setBy;
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

    @Override
    public String setBy() {
        return setBy;
    }
}
