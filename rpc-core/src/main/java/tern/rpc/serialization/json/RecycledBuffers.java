package tern.rpc.serialization.json;

import tern.rpc.serialization.StripedPool;
import tools.jackson.core.util.BufferRecycler;
import tools.jackson.core.util.RecyclerPool;

/**
 * Jackson's buffers for text that is read or written. Its own pool is one queue for all threads, which makes a node for
 * each buffer that comes back. Thread-safe.
 */
final class RecycledBuffers implements RecyclerPool<BufferRecycler> {

    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Mappers of ours are never serialized.
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
