package tern.rpc.load.micro;

/** A worker that does its work on the thread that starts it. */
final class HereAndNow extends Thread {

    HereAndNow(Runnable work) {
        super(work);
    }

    @Override
    @SuppressWarnings("DoNotCall") // that it is no other thread is the point
    public synchronized void start() {
        run();
    }
}
