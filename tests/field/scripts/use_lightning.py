# SPDX-License-Identifier: MIT
"""Lightning: one layer trained for one epoch."""
import warnings; warnings.filterwarnings("ignore")
import torch, lightning as L
class Net(L.LightningModule):
    def __init__(self):
        super().__init__(); self.net = torch.nn.Linear(256, 256)
    def training_step(self, batch, index):
        return self.net(batch).square().mean()
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())
data = torch.utils.data.DataLoader(torch.randn(64, 256), batch_size=16)
L.Trainer(accelerator="gpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Net(), data)
print("done")
