package tern.rpc.serialization.json;

import tern.rpc.serialization.StripedPool;
import tools.jackson.core.util.BufferRecycler;
import tools.jackson.core.util.RecyclerPool;

/**
 * A pool of Jackson's text buffers. This pool replaces Jackson's own pool, which has a single queue for all threads and
 * allocates a node for each returned buffer. Thread-safe.
 */
final class RecycledBuffers implements RecyclerPool<BufferRecycler> {

    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Mappers that contain this object are never serialized.
    private final StripedPool<BufferRecycler> kept = new StripedPool<>();

    @Override
    public BufferRecycler acquirePooled() {
        BufferRecycler taken = kept.take();
        return taken == null ? new BufferRecycler() : taken;
    }

    @Override
    public void releasePooled(BufferRecycler used) {
        kept.giveBack(used);
    }
}
