package tern.rpc.load.peer;

import java.util.List;
import java.util.stream.Stream;
import tern.sample.api.EchoService;
import tern.sample.api.UserService;

/**
 * A framework in the comparison, which acts as a server or as a client. Not thread-safe, but the returned services are
 * thread-safe.
 */
interface Peer extends AutoCloseable {

    /**
     * The maximum number of connections for a framework that needs one connection per caller. The maximum exceeds the
     * number of callers.
     */
    int CONNECTIONS = 1_024;

    /**
     * Serves the services on the given port until this object is closed. Listens only on the loopback address if the
     * framework supports that.
     */
    void serve(int port, Services services);

    /**
     * Opens one connection to the server, or one per caller if the framework's callers cannot share a connection.
     */
    Services connect(int port);

    /** Closes the server and the connections, if the framework can close them. */
    @Override
    void close();

    /**
     * The services that the comparison calls. The services are proxies on the client, and implementations on the
     * server.
     */
    record Services(UserService users, EchoService echo, WorkService work, ProtobufStreams streams) {

        /** Creates a set of services without streams. */
        Services(UserService users, EchoService echo, WorkService work) {
            this(users, echo, work, ProtobufStreams.NONE);
        }

        Services withStreams(ProtobufStreams added) {
            return new Services(users, echo, work, added);
        }
    }

    /** The frameworks that are compared in the scenarios with streams. */
    List<String> STREAMING = List.of(
            "tern-proto",
            "tern-proto-tls",
            "tern-proto-boringssl",
            "dubbo-proto",
            "grpc-java",
            "grpc-java-tls",
            "grpc-java-boringssl",
            "armeria");

    List<String> CLEAR_TEXT = List.of(
            "tern-dubbo",
            "dubbo-hessian2",
            "dubbo-fastjson2",
            "tern-tri",
            "dubbo-tri",
            "tern-proto",
            "dubbo-proto",
            "grpc-java",
            "armeria",
            "tern-http",
            "http-json",
            "hessian-http",
            "rmi",
            "floor",
            "floor-queue");

    /** The frameworks that are compared both with and without TLS. */
    List<String> ENCRYPTED = List.of("tern-dubbo", "tern-tri", "tern-proto", "grpc-java");

    /** The names of all compared frameworks: first the frameworks that do not use TLS, then the frameworks that use it.
     */
    List<String> NAMES = Stream.of(
                    CLEAR_TEXT.stream(),
                    ENCRYPTED.stream().map(Encryption.JDK::added),
                    ENCRYPTED.stream().map(Encryption.BORING_SSL::added))
            .flatMap(names -> names)
            .toList();

    static Peer named(String name) {
        Encryption encryption = Encryption.of(name);
        boolean encrypted = encryption != Encryption.NONE;
        String peer = encryption.clearText(name);
        if (encrypted && !ENCRYPTED.contains(peer)) {
            throw new IllegalArgumentException("peer '" + name + "' is not known; expected one of " + NAMES);
        }
        return switch (peer) {
            case "tern-dubbo" -> new TernPeer("dubbo", false, encrypted);
            case "tern-tri" -> new TernPeer("tri", false, encrypted);
            case "tern-proto" -> new TernPeer("tri", true, encrypted);
            case "tern-http" -> new TernPeer("http", false, encrypted);
            case "dubbo-hessian2" -> new DubboPeer("dubbo", "hessian2", false);
            case "dubbo-tri" -> new DubboPeer("tri", "hessian2", false);
            case "dubbo-fastjson2" -> new DubboPeer("dubbo", "fastjson2", false);
            case "dubbo-proto" -> new DubboPeer("tri", "hessian2", true);
            case "grpc-java" -> new GrpcPeer(encrypted);
            case "armeria" -> new ArmeriaPeer();
            case "http-json" -> new HttpJsonPeer();
            case "hessian-http" -> new HessianPeer();
            case "rmi" -> new RmiPeer();
            case "floor" -> new FloorPeer(Workers::tern);
            case "floor-queue" -> new FloorPeer(Workers::jdk);
            default -> throw new IllegalArgumentException("peer '" + name + "' is not known; expected one of " + NAMES);
        };
    }
}
