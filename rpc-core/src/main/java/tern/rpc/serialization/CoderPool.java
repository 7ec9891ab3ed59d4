package tern.rpc.serialization;

/**
 * Keeps several {@link Coder}s for reuse by any thread. If all coders are in use, the pool creates a new coder.
 * Thread-safe.
 */
public final class CoderPool {

    private final Serializer serializer;
    private final StripedPool<Coder> coders = new StripedPool<>();

    public CoderPool(Serializer serializer) {
        this.serializer = serializer;
    }

    public Serializer serializer() {
        return serializer;
    }

    public Coder take() {
        Coder kept = coders.take();
        return kept == null ? new Coder(serializer) : kept;
    }

    /**
     * Returns a coder to the pool after it has been used successfully. A coder that threw an exception must not be
     * returned.
     */
    public void giveBack(Coder coder) {
        coder.forget();
        coder.output().release();
        coders.giveBack(coder);
    }
}
