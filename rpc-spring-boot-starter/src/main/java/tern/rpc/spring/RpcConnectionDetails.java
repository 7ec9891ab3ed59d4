package tern.rpc.spring;

import java.util.List;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The addresses of providers. Beans of this type take precedence over properties and {@code @RpcReference(url)}, like
 * the connection details of Spring Boot. If there are several beans, the first one in order with addresses is used.
 * Called while references are created.
 */
public interface RpcConnectionDetails extends ConnectionDetails {

    /**
     * Returns the addresses of a reference's providers, each in the form of {@code rpc.client.url}.
     *
     * @param reference the name of the reference or the simple name of its interface: the {@code <name>} of {@code
     *     rpc.client.services.<name>} as it is written there, or for example {@code UserService} if nothing is
     *     configured
     * @return empty to use other sources
     */
    List<String> addresses(String reference);
}
