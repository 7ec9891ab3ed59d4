package tern.rpc.stream;

/** Brings the values of user code to a {@link MessageSink}. Told by any thread; never blocks it nor runs user code on it. */
public interface MessageWriter {

    /** The sink has become ready, or the call is over: whoever waits looks again. */
    void wake();

    /** Whether a value waits until the sink is ready, as far as is known. */
    boolean isWaiting();

    /** The call is over. */
    void over();
}
