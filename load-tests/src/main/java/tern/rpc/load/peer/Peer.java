package tern.rpc.load.peer;

import java.util.List;
import tern.sample.api.EchoService;
import tern.sample.api.UserService;

/** One framework under comparison. */
interface Peer {

    /** Serves the services on the port until the process ends. */
    void serve(int port, Services services);

    /** Connects with one connection. */
    Services connect(int port);

    /** What is called: the proxies on the client, what answers on the server. */
    record Services(UserService users, EchoService echo, WorkService work) {}

    List<String> NAMES = List.of("tern-dubbo", "dubbo-hessian2", "tern-tri", "dubbo-tri", "tern-http");

    static Peer named(String name) {
        return switch (name) {
            case "tern-dubbo" -> new TernPeer("dubbo");
            case "tern-tri" -> new TernPeer("tri");
            case "tern-http" -> new TernPeer("http");
            case "dubbo-hessian2" -> new DubboPeer("dubbo");
            case "dubbo-tri" -> new DubboPeer("tri");
            default -> throw new IllegalArgumentException("peer '" + name + "' is not known; known are " + NAMES);
        };
    }
}
