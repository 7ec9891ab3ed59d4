package tern.rpc.interop;

import java.util.HashMap;
import java.util.Map;
import tern.rpc.endpoint.Endpoint;

/**
 * Runs one case of gRPC's interop suites against a server without TLS. Accepts the same flags as the other clients of
 * the suites, and exits with 0 if the case passes.
 *
 * <p>Usage: {@code InteropClient --server_host=H --server_port=N --test_case=NAME [--soak_iterations=N]}. Other flags
 * of the suites are ignored.
 */
public final class InteropClient {

    private InteropClient() {}

    public static void main(String[] arguments) {
        Map<String, String> flags = new HashMap<>();
        for (String argument : arguments) {
            String[] flag = argument.split("=", 2);
            flags.put(flag[0], flag.length == 2 ? flag[1] : "");
        }
        try {
            Endpoint server = new Endpoint(
                    flags.getOrDefault("--server_host", "127.0.0.1"),
                    Integer.parseInt(flags.getOrDefault("--server_port", "8080")));
            run(
                    flags.getOrDefault("--test_case", "empty_unary"),
                    server,
                    Integer.parseInt(flags.getOrDefault("--soak_iterations", "10")));
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void run(String name, Endpoint server, int iterations) throws Throwable {
        switch (name) {
            case "rpc_soak" -> {
                try (InteropConnection connection = new InteropConnection(server)) {
                    InteropCases cases = new InteropCases(connection);
                    for (int i = 0; i < iterations; i++) {
                        cases.largeUnary();
                    }
                }
            }
            case "channel_soak" -> {
                for (int i = 0; i < iterations; i++) {
                    try (InteropConnection connection = new InteropConnection(server)) {
                        new InteropCases(connection).largeUnary();
                    }
                }
            }
            default -> {
                try (InteropConnection connection = new InteropConnection(server)) {
                    new InteropCases(connection).run(name);
                }
            }
        }
    }
}
