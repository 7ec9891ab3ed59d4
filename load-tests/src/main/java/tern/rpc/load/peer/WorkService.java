package tern.rpc.load.peer;

/** A service that costs its server processor time, of the scene in which servers are busy. */
public interface WorkService {

    /** Makes a text of 1,024 characters that many times, and answers with the last. */
    String build(int times);
}
