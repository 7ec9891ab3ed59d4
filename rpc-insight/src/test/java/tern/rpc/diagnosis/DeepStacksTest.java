package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import shop.Packages;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshots;
import tern.rpc.pool.Holders;

/** Tests stacks with many library frames below the application's code. */
class DeepStacksTest {

    /**
     * A future whose join method runs code below many library frames. Proxies of an object-relational mapper produce
     * about {@link #FRAMES} frames.
     */
    private static final class Deep extends CompletableFuture<String> {

        private static final int FRAMES = 150;
        private final int frames;
        private final Runnable inner;

        Deep(int frames, Runnable inner) {
            this.frames = frames;
            this.inner = inner;
        }

        @Override
        public String join() {
            return call(frames);
        }

        private String call(int frames) {
            if (frames == 0) {
                inner.run();
                return "";
            }
            return call(frames - 1);
        }
    }

    /**
     * @param frames the number of library frames; a large number represents a deep recursion, as in a regular
     *     expression
     */
    @ParameterizedTest
    @ValueSource(ints = {Deep.FRAMES, 2_000})
    void applicationIsFoundBelowManyFramesOfLibraries(int frames) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = new Thread(() -> Packages.of(new Deep(frames, () -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        })));
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        ThreadSnapshot look = ThreadSnapshots.of(new long[] {thread.getId()}).get(thread.getId());
        end.countDown();
        thread.join();

        assertThat(StackReader.place(look)).isEqualTo("Packages.of");
    }

    @Test
    void codeThatTakesAConnectionIsFoundBelowManyFramesOfLibraries() {
        Holders holders = new Holders();
        holders.size(1);

        Packages.of(new Deep(Deep.FRAMES, () -> holders.taken(0)));

        assertThat(holders.all())
                .extracting(Holders.Holder::place)
                .extracting(frame -> frame == null ? "unknown" : frame.getMethodName())
                .isEqualTo(List.of("of"));
    }
}
