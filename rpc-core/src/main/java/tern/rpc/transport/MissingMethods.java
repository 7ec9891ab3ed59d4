package tern.rpc.transport;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import tern.rpc.MethodDescriptor;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.TypingErrors;

/** Creates the exception for a call to a method that the service does not have. It is the same on every protocol. */
public final class MissingMethods {

    private static final int MAX_NAMES = 10;

    /** The compared part of the written name. It is limited, because the caller chooses the length of the name. */
    private static final int MAX_COMPARED = 32;

    /** Names are compared only if a service has at most this number of methods, because that takes long. */
    private static final int MAX_RANKED = 30;

    private record Near(String name, int errors) {}

    private MissingMethods() {}

    /** Returns the exception for a missing method. It lists the names of the service's methods, the nearest first. */
    public static RpcException refusal(ServiceDescriptor service, String name) {
        return RpcException.refusal(
                StatusCode.UNIMPLEMENTED,
                service.name() + " has no method " + PeerText.name(name) + "; it has " + names(service, name),
                Executed.NO);
    }

    private static String names(ServiceDescriptor service, String name) {
        String written = compared(name);
        List<String> all = service.methods().stream()
                .map(MethodDescriptor::name)
                .distinct()
                .sorted()
                .toList();
        List<String> names = all.size() > MAX_RANKED ? all : nearestFirst(all, written);
        String shown = String.join(", ", names.subList(0, Math.min(names.size(), MAX_NAMES)));
        return names.size() > MAX_NAMES ? shown + " and " + (names.size() - MAX_NAMES) + " more" : shown;
    }

    private static List<String> nearestFirst(List<String> names, String written) {
        return names.stream()
                .map(name -> new Near(name, TypingErrors.between(compared(name), written)))
                .sorted(Comparator.comparingInt(Near::errors).thenComparing(Near::name))
                .map(Near::name)
                .toList();
    }

    private static String compared(String name) {
        return name.substring(0, Math.min(name.length(), MAX_COMPARED)).toLowerCase(Locale.ROOT);
    }
}
