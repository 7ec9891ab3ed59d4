package tern.rpc.load.micro;

/** A thread object that runs its work on the thread that calls {@code start}. */
final class HereAndNow extends Thread {

    HereAndNow(Runnable work) {
        super(work);
    }

    @Override
    @SuppressWarnings("DoNotCall") // running on the current thread is intended
    public synchronized void start() {
        run();
    }
}
