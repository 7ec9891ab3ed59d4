package tern.rpc.waiting;

import java.util.List;
import tern.rpc.RunningCall;

/** Something that serves calls: a server, or the web requests of an application. Thread-safe. */
@FunctionalInterface
public interface CallSource {

    /** Returns the calls that run now. */
    List<RunningCall> runningCalls();
}
