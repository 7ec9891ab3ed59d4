package tern.rpc.load;

import java.util.concurrent.locks.LockSupport;

/** A clock that can also block until a given time. Tests use a clock whose time they can set. */
interface LoadClock {

    LoadClock SYSTEM = new LoadClock() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void waitUntil(long nanoTime) throws InterruptedException {
            long wait = nanoTime - System.nanoTime();
            while (wait > 0) {
                LockSupport.parkNanos(wait);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                wait = nanoTime - System.nanoTime();
            }
        }
    };

    long nanoTime();

    void waitUntil(long nanoTime) throws InterruptedException;
}
