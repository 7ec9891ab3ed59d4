package tern.rpc.netty.triple;

/** A request that is still being sent while its answer may already arrive. */
interface WebStream {

    void send(byte[] piece);

    void end();

    /** Cancels the request. */
    void cancel();

    /** Waits until this number of bytes of the answer's body has arrived. */
    byte[] awaitBody(int bytes);

    /** Waits for the end of the answer. */
    WebAnswer answer();
}
