package tern.rpc.interop;

import java.util.List;

/** The answers of a server to a stream of requests. Called by one thread at a time, in the order of the requests. */
interface Script<Q, R> {

    /** Returns the answers to one request. The next request is read after these answers were sent. */
    List<Answer<R>> to(Q request);

    /** Returns the answers after the last request. The stream ends after them. */
    List<Answer<R>> atEnd();
}
