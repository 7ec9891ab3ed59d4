package shop;

import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;

/** Application code that allocates direct buffers or requests garbage collections while a test inspects its thread. */
public final class Thumbnails {

    private Thumbnails() {}

    public static long draw(CountDownLatch end) {
        long drawn = 0;
        while (end.getCount() > 0) {
            drawn += ByteBuffer.allocateDirect(64).capacity();
        }
        return drawn;
    }
}
