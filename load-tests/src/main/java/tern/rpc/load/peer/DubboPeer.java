package tern.rpc.load.peer;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import tern.sample.api.EchoService;
import tern.sample.api.UserService;

/** Apache Dubbo with hessian2, over dubbo or Triple, with its defaults but a longer time-out. */
final class DubboPeer implements Peer {

    private static final int TIMEOUT_MILLIS = 3_000;

    private final String protocol;

    /** @param protocol {@code dubbo} or {@code tri} */
    DubboPeer(String protocol) {
        this.protocol = protocol;
    }

    @Override
    public void serve(int port, Services services) {
        ProtocolConfig listening = new ProtocolConfig(protocol, port);
        listening.setSerialization("hessian2");
        listening.setPreferSerialization("hessian2");
        DubboBootstrap.getInstance()
                .application(application("load-provider"))
                .registry(new RegistryConfig(RegistryConfig.NO_AVAILABLE))
                .protocol(listening)
                .service(service(UserService.class, services.users()))
                .service(service(EchoService.class, services.echo()))
                .service(service(WorkService.class, services.work()))
                .start();
    }

    private static <T> ServiceConfig<T> service(Class<T> type, T target) {
        ServiceConfig<T> service = new ServiceConfig<>();
        service.setInterface(type);
        service.setRef(target);
        return service;
    }

    @Override
    public Services connect(int port) {
        DubboBootstrap.getInstance().application(application("load-consumer"));
        return new Services(
                reference(UserService.class, port).get(),
                reference(EchoService.class, port).get(),
                reference(WorkService.class, port).get());
    }

    private <T> ReferenceConfig<T> reference(Class<T> type, int port) {
        ReferenceConfig<T> reference = new ReferenceConfig<>();
        reference.setInterface(type);
        reference.setUrl(protocol + "://127.0.0.1:" + port + "?serialization=hessian2&prefer.serialization=hessian2");
        reference.setTimeout(TIMEOUT_MILLIS);
        reference.setRetries(0);
        return reference;
    }

    private static ApplicationConfig application(String name) {
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        application.setSerializeCheckStatus("WARN");
        return application;
    }
}
