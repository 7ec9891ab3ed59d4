package org.springframework.samples.petclinic;

import org.springframework.beans.factory.InitializingBean;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/**
 * A service in one of Spring's sample applications. The package names of these applications begin with the prefix of
 * Spring's own packages.
 */
public interface Vets {

    String names();

    @RpcService
    class Practice implements Vets, InitializingBean {
        @Override
        public String names() {
            return "Carter, Leary";
        }

        @Override
        public void afterPropertiesSet() {}
    }

    /** A bean that calls the service. */
    class Visitor {
        @RpcReference
        public Vets vets;
    }
}
