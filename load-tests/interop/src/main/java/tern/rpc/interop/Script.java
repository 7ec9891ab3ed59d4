package tern.rpc.interop;

import java.util.List;

/** What a server answers to a stream of requests. Called by one thread at a time, one request after the other. */
interface Script<Q, R> {

    /** The answers to one request; the next one is asked for when they were given. */
    List<Answer<R>> to(Q request);

    /** The answers that are left when there are no more requests; the stream ends after them. */
    List<Answer<R>> atEnd();
}
