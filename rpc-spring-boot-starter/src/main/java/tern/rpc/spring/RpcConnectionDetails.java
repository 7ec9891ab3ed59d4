package tern.rpc.spring;

import java.util.List;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where providers are. Beans of this type win over properties and {@code @RpcReference(url)}, as connection details of
 * Spring Boot do; of several beans the first in order that knows addresses counts. Asked while references are made.
 */
public interface RpcConnectionDetails extends ConnectionDetails {

    /**
     * Addresses of a reference's providers, each as in {@code rpc.client.url}.
     *
     * @param reference name of the reference, or the simple name of its interface: the {@code <name>} of
     *     {@code rpc.client.services.<name>} as it is written there, or {@code UserService} if nothing is written there
     * @return empty to leave the choice to others
     */
    List<String> addresses(String reference);
}
