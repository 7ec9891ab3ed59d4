package org.springframework.samples.petclinic;

import org.springframework.beans.factory.InitializingBean;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** A service of one of Spring's sample applications, whose packages begin with the prefix of Spring itself. */
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
