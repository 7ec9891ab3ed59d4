package org.apache.shop;

import tern.rpc.spring.RpcService;

/** A service of an application whose packages begin with the prefix of a library. */
public interface Till {

    String sum();

    /** The provider of the service. */
    @RpcService
    class OpenTill implements Till {
        @Override
        public String sum() {
            return "0.00";
        }
    }
}
