package tern.rpc.spring.autoconfigure;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/** Checks whether a reference calls the application's own server before this server listens. */
final class OwnServer {

    private static final String NOT_REGISTERED = ", but registers itself only when it accepts traffic";
    private static final String NOT_STARTED =
            " is the server of this application, which starts after all other beans and has not started yet";

    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<ServerSettings> settings;

    OwnServer(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
        this.settings = beans.getBeanProvider(ServerSettings.class);
    }

    /**
     * Returns the advice for a call that reached no provider because it was made to this server before the server
     * started. Returns an empty string for any other call.
     */
    String advice(ReferenceSettings reference) {
        if (reference.registry() != null) {
            return isToRegister() && isExported(reference.type())
                    ? "; this application serves " + reference.type().getSimpleName()
                            + NOT_REGISTERED + ": call the service after that, or set its url to local, which calls the"
                            + " own server without a registry"
                    : "";
        }
        String own = isToStart() ? address(reference) : "";
        return own.isEmpty()
                ? ""
                : "; " + own + NOT_STARTED + ": call it from an ApplicationRunner or later, or set the url to local,"
                        + " which calls this application's server without a port";
    }

    /**
     * Returns the beginning of a failed call's message, up to the reason why the application's own server could not be
     * reached. Omits the advice that follows. Returns null if the message contains no such reason.
     */
    static @Nullable String withoutAdvice(String message) {
        for (String reason : List.of(NOT_STARTED, NOT_REGISTERED)) {
            int at = message.indexOf(reason);
            if (at >= 0) {
                return message.substring(0, at + reason.length());
            }
        }
        return null;
    }

    private boolean isToStart() {
        return anyIsToCome(RpcServerLifecycle.class, server -> server.servesSomething() && !server.hasStarted());
    }

    private boolean isToRegister() {
        return anyIsToCome(ServerRegistration.class, ServerRegistration::isToCome);
    }

    /**
     * Returns whether the application has a bean of the given type that matches the predicate or has not been created
     * yet. Creates no bean, because this method can be called while another bean is being created.
     */
    private <T> boolean anyIsToCome(Class<T> type, Predicate<T> isToCome) {
        for (String name : beans.getBeanNamesForType(type, true, false)) {
            Object bean = beans.containsSingleton(name) ? beans.getSingleton(name) : null;
            if (bean == null || isToCome.test(type.cast(bean))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the address of this server if it is among the addresses of the reference. Otherwise returns an empty
     * string.
     */
    String address(ReferenceSettings reference) {
        int port = settings.getObject().transport().port();
        return reference.endpoints().stream()
                .map(Instance::endpoint)
                .filter(endpoint -> endpoint.port() == port && isOfThisMachine(endpoint.host()))
                .map(Endpoint::toString)
                .findFirst()
                .orElse("");
    }

    private boolean isExported(Class<?> service) {
        for (String name : beans.getBeanNamesForType(service, true, false)) {
            if (ExportedBeans.annotation(beans, name) != null) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the address belongs to this machine. Resolving the name can take a while. */
    static boolean isOfThisMachine(String address) {
        try {
            InetAddress found = InetAddress.getByName(address);
            return found.isAnyLocalAddress() || NetworkInterface.getByInetAddress(found) != null;
        } catch (UnknownHostException e) {
            return false;
        } catch (SocketException e) {
            return true; // Java cannot read the network interfaces, so the address is assumed to belong to this machine
        }
    }
}
