package tern.rpc.load.peer;

import com.caucho.hessian.client.HessianProxyFactory;
import com.caucho.hessian.io.SerializerFactory;
import com.caucho.hessian.server.HessianSkeleton;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.MalformedURLException;
import java.util.Map;
import java.util.Objects;
import tern.sample.api.EchoService;
import tern.sample.api.UserService;

/**
 * Caucho's Hessian over HTTP/1.1. The server is Jetty, and Caucho's client uses the JDK's connections. The JDK is
 * configured to keep one connection alive for each caller. By default, it keeps only five connections alive.
 */
final class HessianPeer implements Peer {

    private static final String CONTENT_TYPE = "x-application/hessian";

    private final Opened opened = new Opened();

    @Override
    public void serve(int port, Services services) {
        Map<String, HessianSkeleton> skeletons = Map.of(
                path(UserService.class), new HessianSkeleton(services.users(), UserService.class),
                path(EchoService.class), new HessianSkeleton(services.echo(), EchoService.class),
                path(WorkService.class), new HessianSkeleton(services.work(), WorkService.class));
        SerializerFactory values = values();
        opened.add(JettyServer.start(port, CONTENT_TYPE, (path, body) -> {
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            Objects.requireNonNull(skeletons.get(path), path).invoke(body, answer, values);
            return answer.toByteArray();
        }));
    }

    private static String path(Class<?> service) {
        return "/" + service.getSimpleName();
    }

    private static SerializerFactory values() {
        SerializerFactory values = new SerializerFactory();
        values.addFactory(new HessianValues());
        return values;
    }

    @Override
    public Services connect(int port) {
        System.setProperty("http.maxConnections", String.valueOf(CONNECTIONS));
        HessianProxyFactory proxies = new HessianProxyFactory();
        proxies.setHessian2Request(true);
        proxies.setOverloadEnabled(true);
        proxies.setSerializerFactory(values());
        String address = "http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port;
        return new Services(
                proxy(proxies, UserService.class, address),
                proxy(proxies, EchoService.class, address),
                proxy(proxies, WorkService.class, address));
    }

    private static <T> T proxy(HessianProxyFactory proxies, Class<T> service, String address) {
        try {
            return service.cast(proxies.create(service, address + path(service)));
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(address, e);
        }
    }

    @Override
    public void close() {
        opened.close();
    }
}
