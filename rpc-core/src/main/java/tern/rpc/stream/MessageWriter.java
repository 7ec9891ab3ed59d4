package tern.rpc.stream;

/**
 * Sends the application's values to a {@link MessageSink}. Any thread may call the methods. The methods never block,
 * and do not run application code on the calling thread.
 */
public interface MessageWriter {

    /** Called when the sink has become ready or the call has ended. A waiting sender then checks the sink again. */
    void wake();

    /** Returns whether a value is waiting for the sink to become ready. The result may be out of date. */
    boolean isWaiting();

    /** Called when the call has ended. */
    void over();
}
