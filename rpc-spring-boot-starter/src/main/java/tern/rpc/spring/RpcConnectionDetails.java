package tern.rpc.spring;

import java.util.List;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Supplies the addresses of providers. As with Spring Boot's connection details, beans of this type take precedence
 * over properties and {@code @RpcReference(url)}. If there are several beans, the first bean that returns addresses is
 * used. The beans are called while references are created.
 */
public interface RpcConnectionDetails extends ConnectionDetails {

    /**
     * Returns the addresses of a reference's providers, each in the form of {@code rpc.client.url}.
     *
     * @param reference the name of the reference. If {@code rpc.client.services.<name>} is configured, the argument is
     *     the {@code <name>} exactly as written in the properties. Otherwise, the argument is the annotation's {@code
     *     name}. If that is empty too, the argument is the interface's simple name, for example {@code UserService}
     * @return the addresses; empty if the addresses come from another source
     */
    List<String> addresses(String reference);
}
