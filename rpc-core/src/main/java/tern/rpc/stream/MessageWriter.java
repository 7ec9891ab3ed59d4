package tern.rpc.stream;

/**
 * Sends the application's values to a {@link MessageSink}. Any thread may call the methods. The methods never block,
 * and do not run application code on the calling thread.
 */
public interface MessageWriter {

    /**
     * Called when the {@link MessageSink} can accept another value, or when the call has ended. A waiting sender then
     * checks both conditions again.
     */
    void wake();

    /**
     * Returns whether a value is waiting until the {@link MessageSink} can accept it. The result may be out of date.
     */
    boolean isWaiting();

    /** Called when the call has ended, so that no more messages can be sent. */
    void over();
}
