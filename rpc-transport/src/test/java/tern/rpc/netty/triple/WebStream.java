package tern.rpc.netty.triple;

/** A request that is being sent while its answer may be coming. */
interface WebStream {

    void send(byte[] piece);

    void end();

    /** Gives the request up. */
    void cancel();

    /** Waits until so many bytes of the answer's body have come. */
    byte[] awaitBody(int bytes);

    /** Waits for the end. */
    WebAnswer answer();
}
