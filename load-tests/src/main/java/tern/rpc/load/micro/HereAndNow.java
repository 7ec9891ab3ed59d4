package tern.rpc.load.micro;

/** A thread object whose {@code start} method runs the work on the calling thread. */
final class HereAndNow extends Thread {

    HereAndNow(Runnable work) {
        super(work);
    }

    @Override
    @SuppressWarnings("DoNotCall") // Running on the calling thread is intended.
    public synchronized void start() {
        run();
    }
}
