package tern.rpc.interop;

import java.util.List;

/**
 * Determines the answers of a server to a stream of requests. Only one thread at a time calls a script, in the order of
 * the requests.
 */
interface Script<Q, R> {

    /** Returns the answers to one request. The next request is read after these answers have been sent. */
    List<Answer<R>> to(Q request);

    /** Returns the answers after the last request. The stream ends after these answers. */
    List<Answer<R>> atEnd();
}
