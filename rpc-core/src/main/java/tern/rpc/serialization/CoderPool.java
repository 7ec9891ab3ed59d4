package tern.rpc.serialization;

/** Keeps a few {@link Coder}s for reuse by any thread. If all are in use, a new one is created. Thread-safe. */
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

    /** Takes a coder back after success. A coder that threw an exception must be dropped instead. */
    public void giveBack(Coder coder) {
        coder.forget();
        coder.output().release();
        coders.giveBack(coder);
    }
}
