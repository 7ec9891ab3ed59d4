package tern.rpc.load.peer;

/** A service that uses CPU time on the server, for the scene of busy servers. */
public interface WorkService {

    /** Builds a text of 1,024 characters this number of times and returns the last one. */
    String build(int times);
}
