package tern.rpc.load.peer;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import tern.sample.api.EchoService;
import tern.sample.api.UserService;

/** Apache Dubbo over the dubbo protocol or Triple, with default settings except for a longer timeout. */
final class DubboPeer implements Peer {

    private static final int TIMEOUT_MILLIS = 10_000;

    private final String protocol;
    private final String serialization;
    private final boolean protobuf;
    private final Opened opened = new Opened();

    /**
     * @param protocol {@code dubbo} or {@code tri}
     * @param serialization {@code hessian2} or {@code fastjson2}; ignored for protobuf messages
     * @param protobuf whether protobuf messages are sent; only Triple sends them unchanged
     */
    DubboPeer(String protocol, String serialization, boolean protobuf) {
        this.protocol = protocol;
        this.serialization = serialization;
        this.protobuf = protobuf;
    }

    @Override
    public void serve(int port, Services services) {
        ProtocolConfig listening = new ProtocolConfig(protocol, port);
        listening.setSerialization(serialization);
        listening.setPreferSerialization(serialization);
        DubboBootstrap bootstrap = bootstrap("load-provider")
                .registry(new RegistryConfig(RegistryConfig.NO_AVAILABLE))
                .protocol(listening);
        if (protobuf) {
            bootstrap
                    .service(service(ProtobufBenchmark.class, new ProtobufAnswers(services)))
                    .service(service(DubboStreams.class, new DubboStreamAnswers()));
        } else {
            bootstrap
                    .service(service(UserService.class, services.users()))
                    .service(service(EchoService.class, services.echo()))
                    .service(service(WorkService.class, services.work()));
        }
        bootstrap.start();
    }

    private static <T> ServiceConfig<T> service(Class<T> type, T target) {
        ServiceConfig<T> service = new ServiceConfig<>();
        service.setInterface(type);
        service.setRef(target);
        return service;
    }

    @Override
    public Services connect(int port) {
        DubboBootstrap bootstrap = bootstrap("load-consumer");
        if (protobuf) {
            return ProtobufCalls.over(refer(bootstrap, ProtobufBenchmark.class, port))
                    .withStreams(new DubboStreamCalls(refer(bootstrap, DubboStreams.class, port)));
        }
        return new Services(
                refer(bootstrap, UserService.class, port),
                refer(bootstrap, EchoService.class, port),
                refer(bootstrap, WorkService.class, port));
    }

    private <T> T refer(DubboBootstrap bootstrap, Class<T> type, int port) {
        ReferenceConfig<T> reference =
                new ReferenceConfig<>(bootstrap.getApplicationModel().getDefaultModule());
        reference.setInterface(type);
        reference.setUrl(protocol + "://127.0.0.1:" + port + "?serialization=" + serialization
                + "&prefer.serialization=" + serialization);
        reference.setTimeout(TIMEOUT_MILLIS);
        reference.setRetries(0);
        return reference.get();
    }

    private DubboBootstrap bootstrap(String name) {
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        application.setSerializeCheckStatus("WARN");
        DubboBootstrap bootstrap = DubboBootstrap.newInstance().application(application);
        opened.add(bootstrap::destroy);
        return bootstrap;
    }

    @Override
    public void close() {
        opened.close();
    }
}
