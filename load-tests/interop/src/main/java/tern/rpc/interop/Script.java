package tern.rpc.interop;

import java.util.List;

/**
 * Defines a server's answers to a stream of requests. A script is called by one thread at a time, in the order of the
 * requests.
 */
interface Script<Q, R> {

    /** Returns the answers to one request. The next request is read after these answers have been sent. */
    List<Answer<R>> to(Q request);

    /** Returns the answers that follow the last request. The stream ends after these answers. */
    List<Answer<R>> atEnd();
}
