package tern.rpc.load.micro;

/** A thread object whose {@code start} method runs the thread's work on the calling thread. */
final class CallingThread extends Thread {

    CallingThread(Runnable work) {
        super(work);
    }

    @Override
    @SuppressWarnings("DoNotCall") // The work is intentionally run on the calling thread.
    public synchronized void start() {
        run();
    }
}
