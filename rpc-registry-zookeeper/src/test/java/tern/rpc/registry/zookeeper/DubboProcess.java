package tern.rpc.registry.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.rpc.model.FrameworkModel;

/**
 * A real Apache Dubbo application that uses a ZooKeeper server. Each instance has its own framework model, as if it ran
 * in a separate process.
 */
final class DubboProcess implements AutoCloseable {

    /** The registration settings, under Dubbo's names. */
    record Form(String protocol, String registerMode, String metadataType, String further) {

        static Form of(String protocol, String registerMode, String metadataType) {
            return new Form(protocol, registerMode, metadataType, "");
        }
    }

    private final FrameworkModel framework = new FrameworkModel();
    private final DubboBootstrap bootstrap;
    private final String name;
    private final int port;

    DubboProcess(String name, String zooKeeper, Form form) {
        System.setProperty("dubbo.service.shutdown.wait", "1");
        System.setProperty("dubbo.network.interface.preferred", "lo");
        this.name = name;
        this.port = freePort();
        bootstrap = DubboBootstrap.newInstance(framework);
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        application.setDumpEnable(false);
        application.setRegisterMode(form.registerMode());
        application.setMetadataType(form.metadataType());
        application.setMetadataServicePort(form.protocol().equals("dubbo") ? port : freePort());
        RegistryConfig registry = new RegistryConfig("zookeeper://" + zooKeeper);
        registry.setUseAsConfigCenter(true);
        registry.setUseAsMetadataCenter(true);
        ProtocolConfig protocol = new ProtocolConfig(form.protocol(), port);
        protocol.setHost("127.0.0.1");
        if (!form.further().isEmpty()) {
            protocol.setExtProtocol(form.further());
        }
        bootstrap.application(application).registry(registry).protocol(protocol);
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return port;
    }

    /** Exports the service and registers it. */
    DubboProcess provide(Consumer<ServiceConfig<Greeting>> settings) {
        ServiceConfig<Greeting> service = new ServiceConfig<>();
        service.setInterface(Greeting.class);
        service.setRef(text -> name + ":" + text);
        settings.accept(service);
        bootstrap.service(service).start();
        return this;
    }

    /** Creates a consumer that finds providers through the registry. */
    Greeting refer(Consumer<ReferenceConfig<Greeting>> settings) {
        ReferenceConfig<Greeting> reference =
                new ReferenceConfig<>(bootstrap.getApplicationModel().getDefaultModule());
        reference.setInterface(Greeting.class);
        reference.setTimeout(20_000);
        reference.setRetries(0);
        reference.setCheck(false);
        reference.setScope("remote");
        settings.accept(reference);
        bootstrap.reference(reference).start();
        return reference.get();
    }

    /** Makes {@code calls} calls, and returns the number of calls that each provider answered. */
    static Map<String, Integer> answers(Greeting greeting, int calls) {
        Map<String, Integer> answers = new HashMap<>();
        for (int i = 0; i < calls; i++) {
            String answer = greeting.greet("x");
            answers.merge(answer.substring(0, answer.indexOf(':')), 1, Integer::sum);
        }
        return answers;
    }

    static List<String> names(Greeting greeting, int calls) {
        return new ArrayList<>(answers(greeting, calls).keySet());
    }

    @Override
    public void close() {
        bootstrap.stop();
        framework.destroy();
    }
}
