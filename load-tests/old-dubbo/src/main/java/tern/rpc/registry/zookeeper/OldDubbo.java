package tern.rpc.registry.zookeeper;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/**
 * A provider or consumer that uses an old version of Dubbo. The program prints one line for each event, and exits when
 * its standard input ends.
 */
public final class OldDubbo {

    private OldDubbo() {}

    /** @param arguments {@code provide} or {@code consume}, the address of ZooKeeper, and the provider's port */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("dubbo.network.interface.preferred", "lo");
        ApplicationConfig application = new ApplicationConfig("old-" + arguments[0]);
        application.setQosEnable(false);
        RegistryConfig registry = new RegistryConfig("zookeeper://" + arguments[1]);
        registry.setTimeout(20_000);
        ProtocolConfig protocol = new ProtocolConfig("dubbo", Integer.parseInt(arguments[2]));
        protocol.setHost("127.0.0.1");
        DubboBootstrap bootstrap = DubboBootstrap.getInstance()
                .application(application)
                .registry(registry)
                .protocol(protocol);
        if (arguments[0].equals("provide")) {
            ServiceConfig<Greeting> service = new ServiceConfig<>();
            service.setInterface(Greeting.class);
            service.setRef(text -> "old:" + text);
            bootstrap.service(service).start();
            System.out.println("PROVIDES");
        } else {
            ReferenceConfig<Greeting> reference = new ReferenceConfig<>();
            reference.setInterface(Greeting.class);
            reference.setCheck(false);
            reference.setTimeout(20_000);
            bootstrap.reference(reference).start();
            new Thread(() -> call(reference.get()), "calls").start();
        }
        while (System.in.read() >= 0) {}
        System.exit(0);
    }

    private static void call(Greeting greeting) {
        while (true) {
            try {
                System.out.println("ANSWER " + greeting.greet("x"));
                return;
            } catch (RuntimeException e) {
                System.out.println("FAILED " + e.getMessage());
                try {
                    Thread.sleep(200);
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        }
    }
}
