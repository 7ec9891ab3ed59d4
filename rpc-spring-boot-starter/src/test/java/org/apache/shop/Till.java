package org.apache.shop;

import tern.rpc.spring.RpcService;

/** A service in an application whose package names begin with the package prefix of a library. */
public interface Till {

    String sum();

    @RpcService
    class OpenTill implements Till {
        @Override
        public String sum() {
            return "0.00";
        }
    }
}
