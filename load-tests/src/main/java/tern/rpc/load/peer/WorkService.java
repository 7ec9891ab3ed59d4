package tern.rpc.load.peer;

/** A service that uses CPU time on the server, for the scenario with busy servers. */
public interface WorkService {

    /** Builds a string of 1,024 characters the given number of times, and returns the last string. */
    String build(int times);
}
