package tern.rpc.netty.triple;

/** A request that is still being sent while its answer might already be arriving. */
interface WebStream {

    void send(byte[] piece);

    void end();

    void cancel();

    /** Blocks until the given number of bytes of the answer's body have arrived. */
    byte[] awaitBody(int bytes);

    /** Blocks until the answer has ended. */
    WebAnswer answer();
}
