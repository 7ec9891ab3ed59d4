package garden.shop;

import tern.rpc.spring.RpcService;

@RpcService
class RateDesk implements RateService {

    @Override
    public double rate(int id) {
        if (Switches.on("provider-slow")) {
            Naps.millis(150);
        }
        if (Switches.on("provider-fails")) {
            throw new IllegalStateException("no rate");
        }
        return id / 7.0;
    }
}
