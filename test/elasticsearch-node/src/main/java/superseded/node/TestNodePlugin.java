package superseded.node;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.IndexService;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.transport.netty4.Netty4Plugin;

/** The HTTP and node transport, plus what a test needs and the bare server lacks. */
public final class TestNodePlugin extends Netty4Plugin implements ActionPlugin {
  private ClusterService clusterService;

  @Override
  public Collection<?> createComponents(PluginServices services) {
    clusterService = services.clusterService();
    return super.createComponents(services);
  }

  @Override
  public Collection<RestHandler> getRestHandlers(
      RestHandlersServices services, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> supports) {
    return List.of(new RootHandler(clusterService));
  }

  /** Elasticsearch knows this setting but does not register it; tests shorten it so that dead documents are merged away. */
  @Override
  public List<Setting<?>> getSettings() {
    List<Setting<?>> settings = new ArrayList<>(super.getSettings());
    settings.add(IndexService.RETENTION_LEASE_SYNC_INTERVAL_SETTING);
    return settings;
  }
}
