package tern.rpc.stream;

/**
 * Sends the values of user code to a {@link MessageSink}. Any thread may call its methods. They never block and run no
 * user code on the calling thread.
 */
public interface MessageWriter {

    /** The sink has become ready, or the call has ended. A waiting sender checks again. */
    void wake();

    /** Whether a value waits for the sink, as far as is known. */
    boolean isWaiting();

    /** The call has ended. */
    void over();
}
