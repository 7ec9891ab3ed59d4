package tern.rpc.load.peer;

import tern.sample.api.EchoService;
import tern.sample.api.UserService;

/** One framework under comparison. */
interface Peer {

    /** Serves both services on the port until the process ends. */
    void serve(int port, UserService users, EchoService echo);

    /** Connects with one connection. */
    Services connect(int port);

    /** Proxies of both services. */
    record Services(UserService users, EchoService echo) {}

    static Peer named(String name) {
        return switch (name) {
            case "tern-dubbo" -> new TernPeer();
            case "dubbo-hessian2" -> new DubboPeer();
            default ->
                throw new IllegalArgumentException(
                        "peer '" + name + "' is not known; known are tern-dubbo and dubbo-hessian2");
        };
    }
}
