package tern.rpc.serialization;

/** Keeps a few {@link Coder}s for reuse by any thread; when all are taken a new one is made. Thread-safe. */
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

    /** Only after success: a coder that threw in the middle of a message is dropped instead. */
    public void giveBack(Coder coder) {
        coder.forget();
        coder.output().release();
        coders.giveBack(coder);
    }
}
