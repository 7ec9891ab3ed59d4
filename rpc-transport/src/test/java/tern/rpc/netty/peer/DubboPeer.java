package tern.rpc.netty.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.function.Consumer;
import org.apache.dubbo.common.utils.SerializeSecurityManager;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.rpc.model.ApplicationModel;
import org.apache.dubbo.rpc.model.FrameworkModel;
import tern.rpc.endpoint.Endpoint;

/**
 * A real Apache Dubbo instance without a registry. Closing it is slow, so the tests of a class should share one
 * instance.
 */
public final class DubboPeer implements AutoCloseable {

    private static final String SHUTDOWN_WAIT = "dubbo.service.shutdown.wait";

    private final FrameworkModel framework = new FrameworkModel();
    private final ApplicationModel application;
    private final ProtocolConfig protocol;

    /** @param protocol the protocol of this instance's providers and consumers: {@code dubbo} or {@code tri} */
    public DubboPeer(String name, String protocol) {
        System.setProperty(SHUTDOWN_WAIT, "1");
        application = framework.newApplication();
        ApplicationConfig config = new ApplicationConfig(name);
        config.setQosEnable(false);
        config.setDumpEnable(false);
        this.protocol = new ProtocolConfig(protocol, freePort());
        this.protocol.setThreads(20);
        // The metadata service gets its own port, because otherwise all instances on a machine would use the same port.
        config.setMetadataServicePort(this.protocol.getPort());
        application.getApplicationConfigManager().setApplication(config);
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds class name prefixes to Dubbo's allow-list. */
    public void allow(String... prefixes) {
        SerializeSecurityManager manager = framework.getBeanFactory().getBean(SerializeSecurityManager.class);
        for (String prefix : prefixes) {
            manager.addToAlwaysAllowed(prefix);
        }
    }

    /** Exports a service from this Dubbo instance. */
    public <T> void provide(Class<T> type, T target, String group, String version) {
        provide(type, target, service -> {
            if (!group.isEmpty()) {
                service.setGroup(group);
                service.setVersion(version);
            }
        });
    }

    public <T> void provide(Class<T> type, T target, Consumer<ServiceConfig<T>> settings) {
        ServiceConfig<T> service = new ServiceConfig<>(application.getDefaultModule());
        service.setInterface(type);
        service.setRef(target);
        service.setRegistry(new RegistryConfig(RegistryConfig.NO_AVAILABLE));
        service.setProtocol(protocol);
        settings.accept(service);
        service.export();
    }

    /** Returns the address at which the services are exported. */
    public Endpoint endpoint() {
        return new Endpoint("127.0.0.1", protocol.getPort());
    }

    public <T> T refer(Class<T> type, String url, Consumer<ReferenceConfig<T>> settings) {
        ReferenceConfig<T> reference = new ReferenceConfig<>(application.newModule());
        reference.setInterface(type);
        reference.setUrl(url);
        reference.setTimeout(20_000);
        reference.setRetries(0);
        reference.setScope("remote");
        settings.accept(reference);
        return reference.get();
    }

    /**
     * Returns the URL of a Tern provider. Dubbo would otherwise replace the loopback address with the address of the
     * machine.
     */
    public String url(int port) {
        return protocol.getName() + "://127.0.0.1:" + port;
    }

    @Override
    public void close() {
        framework.destroy();
        System.clearProperty(SHUTDOWN_WAIT);
    }
}
