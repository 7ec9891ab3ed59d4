package org.springframework.samples.petclinic;

import org.springframework.beans.factory.InitializingBean;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** A service in one of Spring's sample applications, whose package names begin with Spring's own prefix. */
public interface Vets {

    String names();

    /** The provider of the service. */
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
